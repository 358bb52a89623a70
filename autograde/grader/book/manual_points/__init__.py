"""Points that people give: who grades which part, sheets for them, and what feedback shows of it."""
