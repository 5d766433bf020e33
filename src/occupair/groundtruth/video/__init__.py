"""Door videos: find the minutes in which somebody may have passed."""
