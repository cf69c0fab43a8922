// An artifact with every field off its default, without code.
#pragma once

#include "jit/Artifact.h"

#include <algorithm>

namespace plim::jit {

inline DataBlock makeBlock(const std::string &bytes) {
  return {*makePages(bytes.size(), [&](char *out) { std::copy(bytes.begin(), bytes.end(), out); }),
          hashContents(bytes)};
}

inline Artifact sampleArtifact() {
  Artifact artifact;
  artifact.source = "net.mlir";
  artifact.triple = "x86_64-unknown-linux-gnu";
  artifact.requiredFeatures = {"avx2", "fma"};
  artifact.objects = {std::string("\x7f"
                                  "ELF\0\xff",
                                  6),
                      "", std::string(300, 'o')};
  FunctionSignature main;
  main.name = "main";
  main.arguments = {{"f32", true, true, {-1, 4}, {dynamicStride, 1}}, {"i1", false, false, {}, {}}};
  main.results = {{"bf16", true, false, {}, {}}, {"index", false, false, {}, {}}};
  main.arguments[0].donatedTo = 1;
  main.arguments[0].isRead = false;
  main.arguments[0].bounds = {{1, 7}, {}};
  main.arguments[1].name = "flag";
  main.workspaceBytes = 4096;
  main.scratchBytes = 192;
  main.usesState = true;
  main.plan = {"main.extents", 2, 128, {{0, 4, 16, {1, 0}}, {2, 6, 64, {}}}};
  main.pools = {{64, 64}, {0, 64}};
  main.stackBytes = 20480;
  main.workerStackBytes = 16384;
  FunctionSignature kernel;
  kernel.name = "kernel \"quoted\"";
  kernel.isKernel = true;
  kernel.rawTakesContext = true;
  kernel.pools = {{0, 64}, {4096, 256}};
  kernel.unplanned = "in.mlir:1:2: it has no bound";
  artifact.pools = {"sram", "dram"};
  artifact.functions = {main, kernel};
  artifact.externals = {{"log", "net.mlir:1:1: ", {"4:2", "5:2"}, "(f32) -> i32", false},
                        {"cost", "", {}, "() -> f64", true},
                        {"pick",
                         "",
                         {"6:2"},
                         "() -> (f32, tensor<?x2xi8>)",
                         false,
                         {{1, {"i8", true, false, {-1, 2}, {}}}}}};
  artifact.symbols = {
      {"table", DataKind::Constant, {"f32", true, false, {2}, {}}, 8, 0, -1, "flash", ""},
      {"large", DataKind::Constant, {"i8", true, false, {5000}, {}}, 5000, -1, 1, "", ""},
      {"state", DataKind::Variable, {"i64", true, false, {1}, {}}, 8, 64, -1, "", ""},
      {"history", DataKind::Variable, {"i8", true, false, {8192}, {}}, 8192, -1, 0, "", ""},
      {"zeroed", DataKind::Variable, {"i64", true, false, {1000}, {}}, 8000, -1, -1, "", ""},
      {"weights",
       DataKind::Parameter,
       {"f32", true, false, {3, 2}, {}},
       24,
       -1,
       -1,
       "",
       "net.mlir:3:1: "},
      {"panels", DataKind::Prepared, {"f32", true, false, {1, 2, 4}, {}}, 32, -1, -1, "", ""}};
  artifact.symbols[3].alignment = 256;
  artifact.symbols[5].isSourceOnly = true;
  artifact.symbols[6].arrangement = {"weights", {{2, 1, 1}, {4, 0, 1}}};
  artifact.unreadParameters = {"bias"};
  artifact.data = std::string(72, '\1');
  artifact.blocks = {makeBlock(std::string(8192, '\2')), makeBlock(std::string(5000, '\3'))};
  artifact.stack = {{"main", 512, 640, 1 << 20}, {"main_matmul_0", -1, 96, 1 << 20}};
  artifact.report = "{\"functions\":[]}";
  return artifact;
}

} // namespace plim::jit
