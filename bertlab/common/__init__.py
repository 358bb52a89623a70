"""Modules that every package uses: errors, files, progress bars, devices, settings, folders that work resumes in."""
