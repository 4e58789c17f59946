"""Look at the messages of a topic: find the newest, follow new ones, decode them as a read does, print them."""
