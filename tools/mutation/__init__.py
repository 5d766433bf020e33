"""Mutation testing of the core: `make mutation`.

targets         the mutated files and their tests
mutants         changes one expression of a file at a time, with the operators of mutmut
transplant      puts the functions of a mutated file into the loaded module
tests_by_line   which tests run which lines, and how long they take
runner          forks a process per mutant from a pytest session that has imported everything
forks           functions in forked processes, several at a time
results         results of earlier runs, for as long as mutant and tests are the same
survivors       reasons for mutants that no test can or should notice
report          the table, and the survivors without a reason
"""
