"""What several rooms use: errors, caches, texts, parsing Python, tables."""
