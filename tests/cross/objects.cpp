// Writes the objects of an artifact, as they are, into a folder that is there: 0.o, 1.o and so on.
#include "jit/ArtifactFile.h"

#include <cstdio>
#include <fstream>
#include <string>

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fputs("usage: objects ARTIFACT FOLDER\n", stderr);
    return 2;
  }
  plim::StatusOr<plim::jit::Artifact> artifact = plim::jit::readArtifact(argv[1]);
  if (!artifact.ok()) {
    std::fprintf(stderr, "%s\n", std::string(artifact.status().message()).c_str());
    return 1;
  }
  int number = 0;
  for (const std::string &object : artifact->objects)
    std::ofstream(std::string(argv[2]) + "/" + std::to_string(number++) + ".o", std::ios::binary)
        << object;
  return 0;
}
