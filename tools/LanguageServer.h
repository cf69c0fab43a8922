// LanguageServer: keeps a language server alive whose parser may die of what it reads.
//
// The server proper is a child that this process talks to for the editor. When it ends by itself another one is started
// and gets what the editor has opened, one text after the other; a text that ends that one, too, is left out, and reported
// to the editor as an error, until it changes. Requests without an answer are answered with an error.
//
// Threads: one, so that children can be forked at any time.
#pragma once

namespace plim::tools {

/// Talks JSON-RPC of the Language Server Protocol on standard input and output until the editor ends it. `serve` is the
/// server, on the same streams, run in a child; it gives its exit status. Gives an exit status.
int superviseLanguageServer(int (*serve)(void *), void *context);

} // namespace plim::tools
