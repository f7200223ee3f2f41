"""What a day leaves behind: updates in both channels, events, the daily note and its brief."""
