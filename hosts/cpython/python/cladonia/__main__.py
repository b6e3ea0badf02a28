from cladonia._cli import main

main()
