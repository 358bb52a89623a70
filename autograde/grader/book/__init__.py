"""What a course knows: gradebook, people, groups, late days, points by hand, the term."""
