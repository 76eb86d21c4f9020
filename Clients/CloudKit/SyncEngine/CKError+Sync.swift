extension CKError {
    /// Whether the reason passes by itself, so that the same can be asked again: without the app, and without its change.
    var isTransient: Bool {
        switch self.code {
        case .notAuthenticated, .accountTemporarilyUnavailable, .networkFailure, .networkUnavailable,
            .requestRateLimited, .serviceUnavailable, .zoneBusy, .serverResponseLost:
            true
        default: self.retryAfterSeconds != nil
        }
    }

    /// Whether the reason is not in what was asked, when it is the answer to a request as a whole: another version, another configuration or
    /// another day may do it.
    var isOfService: Bool {
        switch self.code {
        case .internalError, .badContainer, .incompatibleVersion, .missingEntitlement,
            .managedAccountRestricted:
            true
        default: self.isTransient
        }
    }

    /// How long the server wants to be left alone; `nil`: it named no time.
    var pause: Duration? {
        guard let seconds = self.retryAfterSeconds, seconds.isFinite else { return nil }
        // An hour at most, whatever the server says: the next answer may say so again. Rounded up: a moment too early is refused.
        return .milliseconds(Int64((min(max(seconds, 0), 3_600) * 1_000).rounded(.up)))
    }

    /// Whether an item that failed so is pending again, without the app.
    var isRetried: Bool { self.isTransient || self.code == .operationCancelled }

    /// Whether the items of a request that failed so as a whole are pending again, without the app.
    var isRetriedWhole: Bool { self.isRetried || self.isOfService }

    /// Of two errors the one that asks for the longer pause.
    func later(than other: CKError?) -> CKError {
        guard let other else { return self }
        return (other.pause ?? .zero) > (self.pause ?? .zero) ? other : self
    }

    static var delegateIsGone: CKError {
        .local(.operationCancelled, "The sync engine's delegate exists no more")
    }

    static var calledByDelegate: CKError {
        .local(
            .invalidArguments,
            "A delegate can't fetch or send while it handles a call of the same sync engine, which waits for it to return: "
                + "start a task for that, and don't wait for it"
        )
    }
}
