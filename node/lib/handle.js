'use strict';
// Owners of objects of the library.

const forgotten = new FinalizationRegistry(({ release, handle }) => release(handle));

/** A handle with one owner, this object: released by release(), by `using`, or some time after it is gone. */
class Handle {
  constructor(handle, release) {
    Object.defineProperties(this, {
      handle: { value: handle, writable: true },
      releaseHandle: { value: release },
    });
    forgotten.register(this, { release, handle }, this);
  }

  release() {
    if (this.handle)
      this.releaseHandle(this.handle);
    this.handle = null;
    forgotten.unregister(this);
  }
}
if (Symbol.dispose)
  Handle.prototype[Symbol.dispose] = Handle.prototype.release;

module.exports = { Handle, forgotten };
