// CompileWorkers: compilations in processes of their own.
//
// What hostile or unlucky text does to a compiler ends there: a crash, a hang, or memory that runs
// out is a status, and the next compilation gets a process that has not seen it. Only text and
// options go in, only an artifact comes out, which is checked as one from a file is. The process
// that is started, plimsoll-compile-worker, keeps one worker in reserve that is a copy of itself,
// so that after a crash the libraries are loaded already.
//
// Threads: any; as many compilations at once as there may be processes, the others wait.
#pragma once

#include "jit/Compiler.h"

#include <chrono>
#include <memory>
#include <string>

namespace plim::jit {

struct WorkerOptions {
  /// The program; empty: found beside this library, or this program (workerPath()). Looked for
  /// once, when the CompileWorkers are made.
  std::string program = {};
  /// Address space of a worker, bytes; 0: what the host may use.
  int64_t memoryBytes = int64_t(16) << 30;
  /// For one compilation; 0: none.
  std::chrono::milliseconds deadline{0};
  /// Behind a text that ended the parser without an error, to find the line by parsing beginnings
  /// of it; never past the end of the compilation's own time. 0: not at all.
  std::chrono::milliseconds search{2000};
  /// At once; each is started when it is first needed, and stays.
  unsigned processes = 0;
  /// That each may use for code generation.
  unsigned threads = 0;
  /// Processes that rest are lent to all who share such, and live at the same time, with the same
  /// program and `memoryBytes`. As many rest as the one with the most `processes` may have. What a
  /// text does to one that goes on working is then everybody's.
  bool areShared = false;
};

/// Where the worker is looked for without a program: beside the file that this code is in, where an
/// installation has it, and as PLIMSOLL_COMPILE_WORKER says. NotFound with the places if it is
/// nowhere.
StatusOr<std::string> workerPath();

class CompileWorkers {
public:
  explicit CompileWorkers(WorkerOptions options);
  /// Compilations must have ended. Does not wait for the processes, which end by themselves.
  ~CompileWorkers();

  /// The path of the program that is started, absolute; NotFound, with the places, if there is
  /// none.
  const StatusOr<std::string> &program() const;

  /// As jit::compile() does, in another process: also for its errors. Beside them
  ///
  /// - Internal, if the compiler ended without an answer. The message has the signal, the place of
  ///   what it compiled or the line at whose end the parser ended, and the last of what it wrote;
  /// - DeadlineExceeded;
  /// - Unavailable or ResourceExhausted, if no worker can be started or reached.
  ///
  /// `options.profiler` gets one span, `options.parallelFor` only says that threads may be used,
  /// and `options.sourceOwner` is not needed. Compilers of devices run here, on this thread.
  StatusOr<Artifact> compile(std::string_view source, std::string_view sourceName,
                             const targets::TargetDescription &target,
                             const CompileOptions &options, CompileTimes *times = nullptr);

private:
  StatusOr<Artifact> compileThere(std::string_view source, std::string_view sourceName,
                                  const targets::TargetDescription &target,
                                  const CompileOptions &options, CompileTimes *times);

  class Pool;
  std::unique_ptr<Pool> pool;
};

} // namespace plim::jit
