/* Hears a word on the board: calls what keywords.h declares with memory of its own, and compares with NumPy. */
#include "examples/microcontroller/board.h"
#include "examples/microcontroller/memory.h"
#include "examples/microcontroller/npu.h"
#include "expected.h"
#include "input.h"
#include "keywords.h"

enum { paint = 0xa5 };

/* What both processors reach. */
static struct {
  _Alignas(KEYWORDS_WORKSPACE_ALIGNMENT) uint8_t workspace[KEYWORDS_WORKSPACE_BYTES];
  uint8_t behind[64];
  int8_t input[KEYWORDS_HEAR_X_ELEMENTS];
  int32_t scores[KEYWORDS_HEAR_RESULT0_ELEMENTS];
} shared;

int main(void) {
  npu accelerator = {.memory = (const uint8_t *)&shared, .bytes = sizeof shared};
  const struct keywords_devices devices = {
      .ethos_u55 = {&accelerator, npu_open, npu_activate, npu_run, npu_deactivate, npu_close}};
  const struct keywords_workspaces workspaces = {.workspace = shared.workspace};
  memcpy(shared.input, input, sizeof shared.input);
  memset(shared.workspace, paint, sizeof shared.workspace + sizeof shared.behind);

  int status = keywords_open(&devices);
  if (status == KEYWORDS_OK)
    status = keywords_hear(&workspaces, &devices, shared.input, shared.scores);
  if (status == KEYWORDS_OK)
    status = keywords_close(&devices);
  if (status != KEYWORDS_OK) {
    say("status ");
    say_number(status);
    say("\n");
    return 1;
  }

  int best = 0, wrong = 0;
  for (int i = 0; i < KEYWORDS_HEAR_RESULT0_ELEMENTS; ++i) {
    best = shared.scores[i] > shared.scores[best] ? i : best;
    wrong += shared.scores[i] != expected[i];
  }
  size_t used = sizeof shared.workspace + sizeof shared.behind;
  while (used > 0 && shared.workspace[used - 1] == paint)
    --used;
  say("word ");
  say_number(best);
  say(", score ");
  say_number(shared.scores[best]);
  say(wrong == 0 ? ", as NumPy has it\n" : ", which is not what NumPy has\n");
  say("products on the accelerator: ");
  say_number(accelerator.runs);
  say("\nworkspace: ");
  say_number((int32_t)used);
  say(" bytes used of ");
  say_number(KEYWORDS_WORKSPACE_BYTES);
  say("\n");
  return wrong != 0 || accelerator.opens != 0 || accelerator.activations != 0;
}
