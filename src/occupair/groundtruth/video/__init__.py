"""Scan of door videos for candidate minutes, in which somebody may have passed.

- `file_names`, `video_files`: door and start time of each video, gaps and overlaps
- `opencv`, `pyav`, `disposable`, `frames`: decoded frames with their times
- `motion`, `paths`: moving regions, and whether they pass
- `person_detector`, `network_detector`: people, with HOG or with a network of the user
- `frame_analysis`: score of a frame, and what to save of it
- `snapshots`, `contact_sheets`: saved frames by minute, and one image of each candidate minute
- `scan_store`, `scan_job`: progress on disk, and the scan of one video
- `scan`: the scan of many videos to an events folder
"""
