// A host may end while its threads, or the engine's, are in this library: exit() would destroy static objects, of LLVM and MLIR in
// it too, which they use. The library stays until the process is gone (nodelete), so destructors are never registered: it
// is linked with --wrap for what does that.
extern "C" int __wrap___cxa_atexit(void (*)(void *), void *, void *) noexcept { return 0; }
