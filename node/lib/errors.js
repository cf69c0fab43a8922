'use strict';
// Statuses of the library as exceptions.

const { functions: c, sized, structs } = require('./library.js');

const severities = ['error', 'warning', 'remark', 'note'];

/** What the library reports: `code` is the name of a status code, and the place that of the source, if any. */
class PlimsollError extends Error {
  /** Takes the status over. */
  constructor(status) {
    super(c.status_message(status));
    this.name = 'PlimsollError';
    this.code = c.code_name(c.status_code(status));
    this.file = c.status_file(status);
    this.line = c.status_line(status);
    this.column = c.status_column(status);
    this.diagnostics = Array.from({ length: Number(c.status_diagnostic_count(status)) }, (_, i) => {
      const one = sized(structs.Diagnostic);
      c.status_release(c.status_diagnostic(status, i, one)); // there is one of that index
      const { message, file, line, column } = one;
      return { severity: severities[one.severity], message, file, line, column };
    });
    c.status_release(status);
  }
}

function check(status) {
  if (status)
    throw new PlimsollError(status);
}

/** What `call` hands out through its last parameter. */
function out(call) {
  const pointer = [null];
  check(call(pointer));
  return pointer[0];
}

/** The same on another thread. */
async function outAsync(function_, ...parameters) {
  const pointer = [null];
  check(await onThread(function_, ...parameters, pointer));
  return pointer[0];
}

function onThread(function_, ...parameters) {
  return new Promise((resolve, reject) => {
    function_.async(...parameters, (error, value) => (error ? reject(error) : resolve(value)));
  });
}

module.exports = { PlimsollError, check, onThread, out, outAsync };
