#ifndef PLIM_SCHEDULE_PASSES
#define PLIM_SCHEDULE_PASSES

include "mlir/Pass/PassBase.td"

def PlimGroupDispatches : Pass<"plim-group-dispatches", "::mlir::ModuleOp"> {
  let summary = "Find dispatches that may run at the same time, before their buffers have a place";
  let description = [{
    A group is a `plim.schedule` in which none waits for another. To the planner it is one position, so
    buffers of its dispatches are apart; `plim-schedule` then asks only what the places leave open.

    Two dispatches of a block depend on each other when they share memory and one of them writes it.
    What they share follows from their accesses and from where their buffers come from, through
    views, branches and loops: two allocations are distinct, and so are they and everything that was
    there before; arguments may alias each other and globals. Slices of one buffer that have no element
    in common are distinct too.

    A dispatch joins an earlier one when it depends neither on that one nor on anything between that
    would have to stay behind. Allocations, checks and computations of scalars that it needs move
    ahead of the group; a check never moves ahead of a write that the caller could see. Copies,
    loads and stores order by the memory they touch, calls and ops with regions end the search.

    ```mlir
    plim.dispatch @q ins(%x, %wq : ...) outs(%q : ...)
    plim.dispatch @k ins(%x, %wk : ...) outs(%k : ...)
    plim.dispatch @scores ins(%q, %k : ...) outs(%s : ...)
    // becomes
    plim.schedule {
      plim.dispatch @q ins(%x, %wq : ...) outs(%q : ...)
      plim.dispatch @k ins(%x, %wk : ...) outs(%k : ...)
    }
    plim.dispatch @scores ins(%q, %k : ...) outs(%s : ...)
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect"];
  let statistics = [
    Statistic<"groups", "groups", "groups formed">,
    Statistic<"grouped", "grouped", "dispatches in a group">,
    Statistic<"missed", "missed", "dispatches that run alone">];
}

def PlimSchedule : Pass<"plim-schedule", "::mlir::ModuleOp"> {
  let summary = "Join the dispatches of a block, with the dependences between them";
  let description = [{
    Dispatches and groups that follow each other become one `plim.schedule`, the runtime's unit of work,
    in which each dispatch waits for those only whose results or places it needs. Runs after planning: two
    dispatches depend on each other when one writes memory that the other one touches, and planned
    allocations are the same memory where they overlap in their slab or pool. For those that only a call
    places their lifetimes tell: what lives at the same time is apart. Of the dependences those stay that do not
    follow from others.

    What stands between two dispatches and touches none of their memory moves ahead of them:
    allocations, sizes, loads, checks unless a dispatch has written what the caller could see. Anything else, a
    release of unplanned memory too, begins a new schedule, and so does the 65th dispatch.

    ```mlir
    plim.schedule {
      plim.dispatch @q ins(%x, %wq : ...) outs(%q : ...)
      plim.dispatch @k ins(%x, %wk : ...) outs(%k : ...)
    }
    plim.dispatch @squares ins(%q : ...) outs(%s : ...)
    plim.dispatch @scores ins(%s, %k : ...) outs(%t : ...)
    // becomes
    plim.schedule {
      plim.dispatch @q ins(%x, %wq : ...) outs(%q : ...)
      plim.dispatch @k ins(%x, %wk : ...) outs(%k : ...)
      plim.dispatch @squares ins(%q : ...) outs(%s : ...)
      plim.dispatch @scores ins(%s, %k : ...) outs(%t : ...)
    } {predecessors = [array<i64>, array<i64>, array<i64: 0>, array<i64: 1, 2>]}
    ```
  }];
  let dependentDialects = ["::plim::ir::PlimDialect"];
  let statistics = [
    Statistic<"schedules", "schedules", "schedules formed">,
    Statistic<"scheduled", "scheduled", "dispatches in a schedule">,
    Statistic<"dependences", "dependences", "dependences between them">];
}

#endif
