extension CKError {
    /// Whether the error is temporary, so that the same request can succeed without the app.
    var isTransient: Bool {
        switch self.code {
        case .notAuthenticated, .accountTemporarilyUnavailable, .networkFailure, .networkUnavailable,
            .requestRateLimited, .serviceUnavailable, .zoneBusy, .serverResponseLost:
            true
        default: self.retryAfterSeconds != nil
        }
    }

    /// Whether a waiting caller goes on waiting: a user has to sign in before anything else helps.
    var isWaitedOut: Bool { self.isTransient && self.code != .notAuthenticated }

    /// Whether the error of a whole request is not caused by its items: another version or
    /// configuration, or another day, may remove it.
    var isOfService: Bool {
        switch self.code {
        case .internalError, .badContainer, .incompatibleVersion, .missingEntitlement,
            .managedAccountRestricted:
            true
        default: self.isTransient
        }
    }

    /// The retry time of the server; `nil` if it named none.
    var pause: Duration? {
        guard let seconds = self.retryAfterSeconds, seconds.isFinite else { return nil }
        // At most an hour, whatever the server says: the next response may repeat it. It is rounded
        // up, because a moment too early is rejected.
        return .milliseconds(Int64((min(max(seconds, 0), 3_600) * 1_000).rounded(.up)))
    }

    /// Whether a failed item becomes pending again without the app.
    var isRetried: Bool { self.isTransient || self.code == .operationCancelled }

    /// Whether the items of a request that failed as a whole become pending again without the app.
    var isRetriedWhole: Bool { self.isRetried || self.isOfService }

    /// Returns the error that asks for the longer pause.
    func later(than other: CKError?) -> CKError {
        guard let other else { return self }
        return (other.pause ?? .zero) > (self.pause ?? .zero) ? other : self
    }

    static var delegateIsGone: CKError {
        .local(.operationCancelled, "The sync engine's delegate no longer exists")
    }

    static var calledByDelegate: CKError {
        .local(
            .invalidArguments,
            "A delegate can't fetch or send while it handles a call of the same sync engine, which waits for it to return: "
                + "start a task for that, and don't wait for it"
        )
    }
}
