/* A plugin in C: it gives its arguments back. Change `answer`. */
#include "abi.h"

static text answer(text operation, text arguments, writer *result) {
  (void)operation;
  put(result, arguments);
  return (text){0, 0};
}
