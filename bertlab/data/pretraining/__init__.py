"""From documents to pre-training batches: segments, masks, packing, records."""
