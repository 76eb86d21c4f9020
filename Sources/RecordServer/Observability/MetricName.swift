// A table: one row a metric.

/// The metrics of a server, by the names that operators see.
///
/// The endings are Prometheus' conventions, and say what kind a metric is. Operators read the same
/// rows in `Sources/tidemark/METRICS.md`.
package enum MetricName: String, CaseIterable, Sendable {
    case connectionsOpened = "tidemark_connections_opened_total"
    case connectionsRefused = "tidemark_connections_refused_total"
    case connectionsOpen = "tidemark_connections_open"
    case responsesHeldBytes = "tidemark_answers_held_bytes"
    case responsesHeldLargestBytes = "tidemark_answers_held_largest_bytes"
    case unfinishedFrameBytes = "tidemark_unfinished_frame_bytes"
    case requests = "tidemark_requests_total"
    case requestDuration = "tidemark_request_duration_seconds"
    case failures = "tidemark_failures_total"
    case requestsCommitted = "tidemark_requests_committed_total"
    case requestsReplayed = "tidemark_requests_replayed_total"
    case requestsRefused = "tidemark_requests_refused_total"
    case reservationsGiven = "tidemark_reservations_given_total"
    case reservationsKept = "tidemark_reservations_kept_total"
    case requestsWaiting = "tidemark_requests_waiting"
    case waitingBytes = "tidemark_waiting_bytes"
    case commits = "tidemark_commits_total"
    case recordsWritten = "tidemark_records_written_total"
    case logSyncDuration = "tidemark_log_sync_duration_seconds"
    case listeners = "tidemark_listeners"
    case notificationsSent = "tidemark_notifications_sent_total"
    case notificationsCoalesced = "tidemark_notifications_coalesced_total"
    case notificationDetailsDropped = "tidemark_notification_details_dropped_total"
    case notificationChangesWaiting = "tidemark_notification_changes_waiting"
    case subscriptionComparisons = "tidemark_subscription_comparisons_total"
    case subscriptionNews = "tidemark_subscription_news_total"
    case assetReceivedBytes = "tidemark_asset_received_bytes_total"
    case assetSentBytes = "tidemark_asset_sent_bytes_total"
    case assetsStored = "tidemark_assets_stored_total"
    case assetsRemoved = "tidemark_assets_removed_total"
    case uploadsReceiving = "tidemark_uploads_receiving"
    case uploadsWaiting = "tidemark_uploads_waiting"
    case records = "tidemark_records"
    case recordBytes = "tidemark_record_bytes"
    case assets = "tidemark_assets"
    case assetBytes = "tidemark_asset_bytes"
    case rowBytes = "tidemark_row_bytes"
    case userQuotaBytes = "tidemark_user_quota_bytes"
    case containerQuotaBytes = "tidemark_container_quota_bytes"
    case databaseBytes = "tidemark_database_bytes"
    case databaseLogBytes = "tidemark_database_log_bytes"
    case databaseUnsafeSettings = "tidemark_database_unsafe_settings"
    case diskReserveMissingBytes = "tidemark_disk_reserve_missing_bytes"
    case diskFailing = "tidemark_disk_failing"
    case diskFreeBytes = "tidemark_disk_free_bytes"
    case buildInfo = "tidemark_build_info"
    case metricsWritten = "tidemark_metrics_written_timestamp_seconds"
    case processStart = "process_start_time_seconds"
    case processCPU = "process_cpu_seconds_total"
    case processMemory = "process_resident_memory_bytes"

    package var kind: Metric.Kind {
        if self.rawValue.hasSuffix("_total") { return .counter }
        return self.rawValue.hasSuffix("_duration_seconds") ? .histogram : .gauge
    }

    /// One sentence without a line end.
    package var help: String {
        switch self {
        case .connectionsOpened: "Connections that were accepted."
        case .connectionsRefused: "Connections that were refused for want of room (connections_max)."
        case .connectionsOpen: "Connections that are open."
        case .responsesHeldBytes: "Responses that are being read, or that clients have not taken."
        case .responsesHeldLargestBytes: "Those of the user, or the address, who has most of them."
        case .unfinishedFrameBytes: "Memory for frames of which only a part has come."
        case .requests: "Requests that arrived, by operation."
        case .requestDuration: "Time from a request's arrival to the end of its response, by operation."
        case .failures: "Requests and items of requests that failed, by the error that clients were sent."
        case .requestsCommitted: "Requests for changes that were executed."
        case .requestsReplayed: "Requests for changes that came again, and got their stored results."
        case .requestsRefused: "Requests for changes that were refused as a whole."
        case .reservationsGiven: "Refusals for want of room that named a time to come back."
        case .reservationsKept: "Requests that came back at that time and were admitted."
        case .requestsWaiting: "Requests for changes that wait for the writer."
        case .waitingBytes: "Size of the requests that wait for the writer."
        case .commits: "Transactions that were committed."
        case .recordsWritten: "Records that were saved or deleted."
        case .logSyncDuration: "Time that the disk took to make a commit durable (fdatasync)."
        case .listeners: "Connections that listen for notifications."
        case .notificationsSent: "Notifications that were sent."
        case .notificationsCoalesced: "Notifications that a later one of their subscription replaced."
        case .notificationDetailsDropped: "Transactions of which listeners learn only that something changed."
        case .notificationChangesWaiting: "Changes that wait to be compared with subscriptions."
        case .subscriptionComparisons: "Comparisons of changed records with conditions of subscriptions."
        case .subscriptionNews:
            "Subscriptions that learned only that there may be news, because comparing cost their user too much."
        case .assetReceivedBytes: "Bytes of assets that clients uploaded."
        case .assetSentBytes: "Bytes of assets that clients downloaded."
        case .assetsStored: "Assets that were uploaded completely."
        case .assetsRemoved: "Assets that were removed because no record named them."
        case .uploadsReceiving: "Uploads that receive bytes."
        case .uploadsWaiting: "Uploads that wait for their turn (uploads_max)."
        case .records: "Records that are stored."
        case .recordBytes: "Size of the bodies of stored records."
        case .assets:
            "Assets that count: named by records or histories, or sent and not yet named; once a database."
        case .assetBytes:
            "Size of the assets that count; files of deleted records stay for a while and do not."
        case .rowBytes: "What all rows take beside bodies and assets, as quotas count it."
        case .userQuotaBytes: "What a user may store in private databases (user_bytes_max); 0 for no quota."
        case .containerQuotaBytes: "What a container may store (container_bytes_max); 0 for no quota."
        case .databaseBytes: "Size of the database file."
        case .databaseLogBytes: "Size of the database's write-ahead log."
        case .databaseUnsafeSettings:
            "Settings of PostgreSQL that are off, and without which a crash loses saves (fsync, full_page_writes)."
        case .diskReserveMissingBytes:
            "What the reserve for deletes and administration lacks now: the disk is, or was just, full."
        case .diskFailing: "1 while the disk refuses writes though it has room, and else 0."
        case .diskFreeBytes: "Free space on the disk of the data folder, for the server's user."
        case .buildInfo: "Always 1; the labels describe the program."
        case .metricsWritten: "When these metrics were written, since 1970."
        case .processStart: "When the server started, since 1970."
        case .processCPU: "Processor time that the server has used."
        case .processMemory: "Memory of the server that is in RAM."
        }
    }
}
