// main() of a generator: the models are those of the source that it is linked with.
#include "generator.h"

int main(int argc, char **argv) { return burin::generatorMain(argc, argv, burin::registry()); }
