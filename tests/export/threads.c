/* A function on threads of POSIX: bits as on one, calls after calls, and a failure of run comes back. */
#include "case.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count_of_threads = 4, rows = 300, columns = 64 };

struct job {
  int32_t (*work)(void *argument, size_t thread, int64_t begin, int64_t end);
  void *argument;
  size_t thread;
  int64_t begin, end;
  int32_t status;
};

static void *start(void *given) {
  struct job *job = given;
  job->status = job->work(job->argument, job->thread, job->begin, job->end);
  return NULL;
}

static int32_t run(void *context, int32_t (*work)(void *, size_t, int64_t, int64_t), void *argument,
                   int64_t count) {
  ++*(int *)context;
  struct job jobs[count_of_threads];
  pthread_t threads[count_of_threads];
  int32_t status = 0;
  for (size_t i = 0; i < count_of_threads; ++i) {
    jobs[i] = (struct job){work,
                           argument,
                           i,
                           (int64_t)i * count / count_of_threads,
                           ((int64_t)i + 1) * count / count_of_threads,
                           0};
    if (pthread_create(&threads[i], NULL, start, &jobs[i]) != 0)
      abort();
  }
  for (size_t i = 0; i < count_of_threads; ++i) {
    pthread_join(threads[i], NULL);
    status = status != 0 ? status : jobs[i].status;
  }
  return status;
}

static int32_t fail(void *context, int32_t (*work)(void *, size_t, int64_t, int64_t),
                    void *argument, int64_t count) {
  (void)context, (void)work, (void)argument, (void)count;
  return 77;
}

int main(void) {
  static float x[rows * columns], w[columns * columns], one[rows * columns], other[rows * columns];
  for (int i = 0; i < rows * columns; ++i)
    x[i] = (float)(i % 17) / 7;
  for (int i = 0; i < columns * columns; ++i)
    w[i] = (float)(i % 23) / 11;
  static _Alignas(64) uint8_t memory[1 << 20];
  const struct case_workspaces workspaces = {memory, sizeof memory};
  int calls = 0;
  struct case_threads threads = {.context = &calls, .run = run};
#ifdef CASE_THREAD_SCRATCH_BYTES
  static _Alignas(64) uint8_t scratch[count_of_threads * CASE_THREAD_SCRATCH_BYTES];
  threads.scratch = scratch;
#endif
  int64_t m = 0;
  if (case_main(&workspaces, NULL, x, rows, w, one, rows * columns, &m) != CASE_OK || m != rows)
    return 1;
  for (int i = 0; i < 20; ++i) {
    memset(other, 0, sizeof other);
    if (case_main(&workspaces, &threads, x, rows, w, other, rows * columns, &m) != CASE_OK ||
        memcmp(one, other, sizeof one) != 0)
      return 2;
  }
  threads.run = fail;
  const int status = (int)case_main(&workspaces, &threads, x, rows, w, other, rows * columns, &m);
  printf("%d calls, status %d\n", calls > 0, status);
  return 0;
}
