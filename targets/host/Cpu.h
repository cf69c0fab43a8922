// The instruction set of this machine, from CPUID or its like and never from the model name.
//
// Owns the reading of features, their intersection over unlike cores, and the choices that follow
// from them. Cpu.cpp is common; the functions marked "by instruction set" are defined once in the
// file of each one. Must not know topology: it is told which processors to look at. Stateless.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace plim::targets::host {

/// LLVM's feature names, and whether the machine has them.
using FeatureMap = std::map<std::string, bool>;

/// Of this process: "x86_64-unknown-linux-gnu".
std::string readTriple();

/// What every processor in `cpus` (numbers of the operating system) has. With fewer than two, what
/// the current one has: cores of one kind need no comparison. A processor that cannot be asked is
/// passed over.
FeatureMap readFeatures(const std::vector<int> &cpus);

/// True where both are true; a name that one side lacks is false.
FeatureMap intersectFeatures(const FeatureMap &a, const FeatureMap &b);

/// False for a name that is not there.
bool hasFeature(const FeatureMap &features, const std::string &name);

// By instruction set.

/// The CPU that code is generated for before features are added.
std::string baselineCpu();

/// The scheduling model nearest to a machine with these features.
std::string chooseTuneCpu(const FeatureMap &features);

/// The widest vectors worth using.
int64_t chooseVectorBits(const FeatureMap &features);

/// Makes false what needs register state that the kernel gives to no process (AMX tiles). Whether
/// this one gets it says requestTiles().
void dropUnsupportedState(FeatureMap &features);

} // namespace plim::targets::host
