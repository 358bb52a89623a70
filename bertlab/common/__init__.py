"""What every room uses: errors, files, progress bars, devices, settings, folders that work resumes in."""
