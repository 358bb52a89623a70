def delegated(): return None
