/// An error code, which the server's log has by its name, and its meaning.
///
/// The texts are those of `Protocol/registry.json`, which a test compares.
struct CodeMeaning: Hashable, Sendable {
    var number: Int
    var name: String
    var meaning: String
    /// When a client may ask again.
    var retry: String

    private init(_ number: Int, _ name: String, _ meaning: String, retry: String) {
        self.number = number
        self.name = name
        self.meaning = meaning
        self.retry = retry
    }

    /// The anchor on the page of codes; `nil` if a value of the log is no code.
    static func url(of value: String) -> PageURL? {
        self.names.contains(value) ? PageURL("/logs/codes#\(value)") : nil
    }

    private static let names = Set(Self.all.map(\.name))

    static let all: [CodeMeaning] = [
        .init(1, "internal_error", "A fault of the server; its log has the reason.", retry: "after"),
        .init(5, "bad_container", "The container cannot be used.", retry: "never"),
        .init(
            6,
            "service_unavailable",
            "The server is stopping, or its storage refuses writes: on a full disk all but deletes.",
            retry: "now, on another connection; or after"
        ),
        .init(
            7,
            "request_rate_limited",
            "Too much is in flight or waiting: a time up to reservation_ms_max is a reservation. "
                + "Or the user has asked for too many URLs that lead to no share.",
            retry: "after"
        ),
        .init(9, "not_authenticated", "The operation needs a user who is signed in.", retry: "never"),
        .init(10, "permission_failure", "The user may not do this to the item.", retry: "never"),
        .init(11, "unknown_item", "There is no record of this name.", retry: "after_change"),
        .init(12, "invalid_arguments", "The item or the request breaks a rule of section 5.", retry: "never"),
        .init(
            14,
            "server_record_changed",
            "The record has another change tag than the client holds, or is there already; the "
                + "answer carries it.",
            retry: "after_change"
        ),
        .init(
            15,
            "server_rejected_request",
            "The server refuses the request for a reason that no other number gives.",
            retry: "never"
        ),
        .init(
            17,
            "asset_file_modified",
            "The bytes that came are not those of the asset's hash: the file changed.",
            retry: "after_change"
        ),
        .init(
            20,
            "operation_cancelled",
            "The client cancelled the request before it was executed.",
            retry: "never"
        ),
        .init(
            21,
            "change_token_expired",
            "The token is not one of this server's for this feed, or is older than what the "
                + "server remembers: fetch without one.",
            retry: "after_change"
        ),
        .init(
            22,
            "batch_request_failed",
            "Nothing is wrong with the item: another one of its atomic batch failed.",
            retry: "after_change"
        ),
        .init(23, "zone_busy", "The zone takes no change now.", retry: "after"),
        .init(24, "bad_database", "The database does not have the operation.", retry: "never"),
        .init(
            25,
            "quota_exceeded",
            "The bytes that the user or the container may have do not suffice.",
            retry: "after_change"
        ),
        .init(26, "zone_not_found", "There is no zone of this name.", retry: "after_change"),
        .init(
            27,
            "limit_exceeded",
            "More items, bytes, references or ancestors than the limits in force.",
            retry: "after_change"
        ),
        .init(29, "too_many_participants", "A share has at most 100 participants.", retry: "after_change"),
        .init(
            30,
            "already_shared",
            "The record, one above it or one below it is in a share already.",
            retry: "after_change"
        ),
        .init(
            31,
            "reference_violation",
            "A reference that must hold would point at nothing.",
            retry: "after_change"
        ),
        .init(
            32,
            "managed_account_restricted",
            "The operator has restricted the processing of the user's data.",
            retry: "after_change"
        ),
        .init(
            33,
            "participant_may_need_verification",
            "Only who was invited gets in, and the user is not known by what somebody was invited by.",
            retry: "after_change"
        ),
        .init(
            35,
            "asset_not_available",
            "The database does not have the asset whole, or the record does not name it.",
            retry: "after_change"
        ),
        .init(
            37,
            "participant_already_invited",
            "The user asks for access to a share and is invited to it already: accept.",
            retry: "after_change"
        ),
        .init(
            1000,
            "deadline_exceeded",
            "The deadline passed before the request was executed; nothing happened.",
            retry: "now"
        ),
        .init(
            1001,
            "operation_unknown",
            "The server does not know the operation: it is older than the client.",
            retry: "never"
        ),
    ]
}
