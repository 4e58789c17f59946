"""Changes that a pipeline's file gives, and changes that are printed: to try a pipeline without Kafka."""
