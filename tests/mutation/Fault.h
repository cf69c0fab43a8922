// Included by a source that faults were put into. Each fault is a branch, taken in processes that are told of its number, so that one
// build has them all: Untch, "Mutation-based software testing using program schemata", 1992.
#pragma once
#pragma clang diagnostic ignored "-Weverything"

#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace plim_faults {

// PLIM_FAULT: the number of the fault that is there, from 1. PLIM_FAULTS_REACHED: a file with a byte for each number, made by whoever asks;
// a byte is set once the program comes to its fault.
struct Told {
  static constexpr unsigned most = 4096;
  unsigned present = 0;
  volatile char *reached = nullptr;

  Told() {
    if (const char *number = std::getenv("PLIM_FAULT"))
      present = static_cast<unsigned>(std::atoi(number));
    const char *path = std::getenv("PLIM_FAULTS_REACHED");
    const int file = path ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
      return;
    void *bytes = ::mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes != MAP_FAILED)
      reached = static_cast<volatile char *>(bytes);
    ::close(file);
  }
};

inline Told told;

inline bool is(unsigned number) {
  if (told.reached)
    told.reached[number] = 1;
  return told.present == number;
}

} // namespace plim_faults
