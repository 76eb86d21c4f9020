import Foundation

/// A lock with which threads wait for each other, for no longer than a time if they like.
///
/// Foundation's condition waits until a date. So it waits long when the clock is set back, and stops the
/// process when the clock says 2262 or later. This one has the clock that only goes forward.
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

    /// Wakes one that waits.
    package func signal() { pthread_cond_signal(self.condition) }

    /// Wakes all that wait.
    package func broadcast() { pthread_cond_broadcast(self.condition) }

    /// Waits until it is woken, which may happen without a signal.
    ///
    /// Only within `withLock`.
    package func wait() { pthread_cond_wait(self.condition, self.mutex) }

    /// Waits until it is woken, or a moment of `MonotonicTime` has come.
    ///
    /// Only within `withLock`.
    ///
    /// - Returns: False if the moment has come.
    package func wait(until nanoseconds: Int64) -> Bool {
        let end = max(nanoseconds, 0)
        var time = timespec()
        time.tv_sec = Int(end / 1_000_000_000)
        time.tv_nsec = Int(end % 1_000_000_000)
        return pthread_cond_timedwait(self.condition, self.mutex, &time) == 0
    }
}
