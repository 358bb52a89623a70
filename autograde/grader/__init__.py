"""Everything around the grading that runs no student code: files in, grades and pages out.

    collect ─▶ submitted/STUDENT/ASSIGNMENT/ ─▶ notebook, repair ─▶ (the sandbox, the judge) ─▶ results
                                                                                                  │
                          gradebook.db ◀─ gradebook ◀──────────────────────────────────────────────┤
                          grades.csv … ◀─ export                   feedback, report, similarity ◀──┘

Submissions are text here: they are read, compared, counted and escaped, never run, imported or rendered.
"""
