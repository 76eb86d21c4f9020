/// Advice for a client with a failed request.
package enum RetryAdvice: Hashable, Sendable {
    /// The same request fails again.
    case never
    /// The same request may succeed at once.
    case now
    /// The same request may succeed after this time.
    case after(milliseconds: UInt32)
    /// A changed request may succeed: fetch, merge, save less, or ask the operator.
    case afterChange
}
