"""Avro schemas: their model, their JSON, their derivation from columns, and what they become for pyruhvro."""
