"""Scan of door videos for candidate minutes, in which somebody may have passed.

- `file_names`, `video_files`: door and start time of each video, gaps and overlaps
- `opencv`, `frames`: decoded frames with their times
- `motion`, `person_detector`, `frame_analysis`: moving regions, people, and what to save of a frame
- `snapshots`, `contact_sheets`: saved frames by minute, and one image of each candidate minute
- `scan_store`, `scan_job`: progress on disk, and the scan of one video
- `scan`: the scan of many videos to an events folder
"""
