"""Outdoor air from counts: ventilation standards, the count to plan for, and limits on changes of the flow."""
