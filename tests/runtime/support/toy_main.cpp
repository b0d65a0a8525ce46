// The program that a build makes for each model, here for the toy model.
#include <cli/cli.h>

#include "toy_model.h"

int main(int argc, char **argv) { return burin::cliMain(toy_model, argc, argv); }
