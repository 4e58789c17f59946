"""Reading: planned on the driver by `planner`, done on executors by `pipeline`."""
