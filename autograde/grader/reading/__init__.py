"""Reads what students hand in: notebooks and scripts as cells, beside the released notebook."""
