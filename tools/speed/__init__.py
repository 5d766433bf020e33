"""Speed benchmark: occupair, the reference implementation, bare matrix products and other packages.

Modules in data-flow order:

sizes               problem sizes of the full and the quick run
measuring           time and memory
contenders          networks that are trained: occupair, reference, BLAS, other packages
training            training one random layer, and how its cost scales
draws               choosing from many random layers
live_day            one live day by Eq. (26), and how its cost scales
default_estimator   training and estimation with the default estimator
room_clocks         days and gaps of many rooms
many_default_rooms  many rooms with the default estimator in shared arrays
many_paper_rooms    many rooms with Eq. (26) in shared arrays
rooms               one reading of many rooms
start_up            start-up times in fresh processes
system              hardware and versions
formatting          tables and numbers in Markdown
figure              the figure
__main__            the command
"""
