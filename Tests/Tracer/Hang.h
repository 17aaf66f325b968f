#ifndef HANG_H
#define HANG_H

/// Ends this process by SIGALRM unless it ends within so many seconds. It then prints where its threads are, and in a
/// trap, where that is.
void end_when_hung(unsigned seconds);

#endif
