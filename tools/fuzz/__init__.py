"""Fuzzing of everything that a stranger can send to occupair: `python -m tools.fuzz`, docs/fuzzing.md.

interesting      values, numbers, texts and times at which parsers break
byte_mutations   changes of bytes, regardless of the format
json_mutations   changes of JSON documents that stay JSON
toml_mutations   changes of TOML documents that mostly stay TOML
table_mutations  changes of delimited tables
scratch          files in memory
target           one kind of input: how it is generated, what reads it
targets/         the targets, one per file
trial            one input: run within limits of time and memory, outcome checked against the contract
worker           a process that runs trials
campaign         workers, budget, progress
findings         inputs that broke the contract, saved with the command that repeats them
summary          table of a campaign
shrinking        smaller inputs with the same finding
"""
