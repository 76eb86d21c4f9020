extension ErrorCode {
    /// Names as in `registry.json`, which a test compares.
    package static let names: [ErrorCode: String] = [
        .internalError: "internal_error", .badContainer: "bad_container",
        .serviceUnavailable: "service_unavailable", .requestRateLimited: "request_rate_limited",
        .notAuthenticated: "not_authenticated", .permissionFailure: "permission_failure",
        .unknownItem: "unknown_item", .invalidArguments: "invalid_arguments",
        .serverRecordChanged: "server_record_changed", .serverRejectedRequest: "server_rejected_request",
        .assetFileModified: "asset_file_modified", .operationCancelled: "operation_cancelled",
        .changeTokenExpired: "change_token_expired", .batchRequestFailed: "batch_request_failed",
        .zoneBusy: "zone_busy", .badDatabase: "bad_database", .quotaExceeded: "quota_exceeded",
        .zoneNotFound: "zone_not_found", .limitExceeded: "limit_exceeded",
        .tooManyParticipants: "too_many_participants", .alreadyShared: "already_shared",
        .referenceViolation: "reference_violation",
        .managedAccountRestricted: "managed_account_restricted",
        .participantMayNeedVerification: "participant_may_need_verification",
        .assetNotAvailable: "asset_not_available",
        .participantAlreadyInvited: "participant_already_invited", .deadlineExceeded: "deadline_exceeded",
        .operationUnknown: "operation_unknown",
    ]
}
