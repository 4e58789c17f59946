"""Tables that rules are for, and the tables that changes go to."""
