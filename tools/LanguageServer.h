// LanguageServer: keeps a language server alive whose parser may die of what it reads.
//
// The server proper is a child that this process talks to for the editor. When a child ends by
// itself, another one is started and gets the texts that the editor has open, one after the other.
// A text that ends this child as well is left out, and reported to the editor as an error, until it
// changes. Requests without an answer are answered with an error.
//
// Threads: one, so that children can be forked at any time.
#pragma once

namespace plim::tools {

/// Talks JSON-RPC of the Language Server Protocol on standard input and output until the editor
/// ends it. `serve` is the server, on the same streams, run in a child; it gives its exit status.
/// Gives an exit status.
int superviseLanguageServer(int (*serve)(void *), void *context);

} // namespace plim::tools
