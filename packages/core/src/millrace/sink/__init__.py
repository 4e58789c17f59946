"""Writing: checked on the driver by `check` and `encode`, done on executors by `pipeline`."""
