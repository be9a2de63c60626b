import Glibc

// A terminal or a pipe that is closed is an error of one write, not the end of the program.
signal(SIGPIPE, SIG_IGN)
exit(Program.run(Array(CommandLine.arguments.dropFirst()), environment: Environment.variables))
