"""Plan a job before it runs: what it would read, in how many tasks, what it would write, create and need."""
