import Foundation

/// A lock that lets its holders wait for a signal, with a timeout.
///
/// Foundation's condition waits until a date. So it waits long after the clock was set back, and
/// crashes the process if the clock says 2262 or later. This one uses the monotonic clock.
///
/// SAFETY: the pointers are made once and freed with the last reference, when no thread waits.
package final class ThreadCondition: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    package init() {
        self.mutex = .allocate(capacity: 1)
        self.condition = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_mutex_init(self.mutex, nil)
        pthread_cond_init(self.condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(self.condition)
        pthread_mutex_destroy(self.mutex)
        self.condition.deallocate()
        self.mutex.deallocate()
    }

    package func withLock<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value
    {
        self.lock()
        defer { self.unlock() }
        return try body()
    }

    package func lock() { pthread_mutex_lock(self.mutex) }

    package func unlock() { pthread_mutex_unlock(self.mutex) }

    /// Wakes one waiting thread.
    package func signal() { pthread_cond_signal(self.condition) }

    /// Wakes all waiting threads.
    package func broadcast() { pthread_cond_broadcast(self.condition) }

    /// Waits until it is woken, possibly without a signal.
    ///
    /// Call it only within `withLock`.
    package func wait() { pthread_cond_wait(self.condition, self.mutex) }

    /// Waits until it is woken, or until a time of `MonotonicTime`.
    ///
    /// Call it only within `withLock`.
    ///
    /// - Returns: `false` if the time has come.
    package func wait(until nanoseconds: Int64) -> Bool {
        let end = max(nanoseconds, 0)
        var time = timespec()
        time.tv_sec = Int(end / 1_000_000_000)
        time.tv_nsec = Int(end % 1_000_000_000)
        return pthread_cond_timedwait(self.condition, self.mutex, &time) == 0
    }
}
