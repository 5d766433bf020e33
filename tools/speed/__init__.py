"""How fast occupair is: ours, the equation written out, the bare matrix products, and other packages.

measuring -> contenders -> training, draws, live, default, rooms, start_up -> figure, __main__
"""
