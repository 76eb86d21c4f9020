import Foundation
import NIOCore
import RecordModel
import SwiftProtobuf
import TestSupport
import Testing
import WireProtocol

/// What the code calls its numbers, in the spelling of `registry.json`.
enum Registry {
    static let kinds: [String: FrameKind] = [
        "hello": .hello, "welcome": .welcome, "goaway": .goaway, "request": .request, "items": .items,
        "end": .end, "cancel": .cancel, "ping": .ping, "pong": .pong, "credit": .credit,
        "asset_data": .assetData, "progress": .progress, "asset_offsets": .assetOffsets,
        "notification": .notification, "notification_ack": .notificationAck,
        "challenge": .challenge, "proof": .proof,
    ]
    static let errorCodes = Dictionary(uniqueKeysWithValues: ErrorCode.names.map { ($1, $0) })
    static let closeReasons: [String: CloseReason] = [
        "drain": .drain, "version_unsupported": .versionUnsupported, "not_authenticated": .notAuthenticated,
        "container_unknown": .containerUnknown, "overloaded": .overloaded, "idle": .idle,
        "slow_reader": .slowReader, "handshake_timeout": .handshakeTimeout, "internal_error": .internalError,
        "credential_expired": .credentialExpired, "frame_timeout": .frameTimeout,
        "account_changed": .accountChanged,
        "frame_too_large": .frameTooLarge, "frame_kind_unexpected": .frameKindUnexpected,
        "message_malformed": .messageMalformed, "request_before_hello": .requestBeforeHello,
        "second_hello": .secondHello, "stream_invalid": .streamInvalid,
        "too_many_in_flight": .tooManyInFlight, "credit_exceeded": .creditExceeded,
        "credit_invalid": .creditInvalid, "too_many_control_frames": .tooManyControlFrames,
    ]
    static let limits: [String: Int] = [
        "frame_bytes_max": Bounds.defaults.frameBytesMax,
        "handshake_frame_bytes_max": FrameDecoder.handshakePayloadBytesMax,
        "request_items_max": Bounds.defaults.requestItemsMax,
        "request_bytes_max": Bounds.defaults.requestBytesMax,
        "record_bytes_max": Bounds.defaults.recordBytesMax,
        "stranger_request_bytes_max": Bounds.strangerRequestBytesMax,
        "response_bytes_max": Bounds.defaults.responseBytesMax,
        "reservation_ms_max": Bounds.reservationMillisecondsMax,
        "reservation_grace_ms": Bounds.reservationGraceMilliseconds,
        "in_flight_max": Bounds.defaults.inFlightMax,
        "connection_window": Int(Windows.defaults.connectionBytes),
        "stream_window": Int(Windows.defaults.streamBytes),
        "window_min": Int(Windows.permittedBytes.lowerBound),
        "window_max": Int(Windows.permittedBytes.upperBound),
        "name_bytes_max": Bounds.nameBytesMax,
        "record_name_units_max": Bounds.recordNameUnitsMax,
        "record_fields_max": Bounds.fieldsMax,
        "record_type_fields_max": Bounds.recordTypeFieldsMax,
        "record_types_max": Bounds.recordTypesMax,
        "request_entries_max": Bounds.defaults.requestEntriesMax,
        "request_stored_bytes_max": Bounds.defaults.requestStoredBytesMax,
        "shared_tree_max": Bounds.defaults.sharedTreeMax,
        "shares_turn_max": Bounds.defaults.sharesTurnMax,
        "request_definitions_max": Bounds.defaults.requestDefinitionsMax,
        "request_comparisons_max": Bounds.defaults.requestComparisonsMax,
        "zones_max": Bounds.defaults.zonesMax,
        "desired_keys_max": Bounds.fieldsMax,
        "list_elements_max": Bounds.listElementsMax,
        "delete_self_references_max": Bounds.defaults.deleteSelfReferencesMax,
        "cascade_records_max": Bounds.defaults.cascadeRecordsMax,
        "cascade_turn_max": Bounds.defaults.cascadeTurnMax,
        "cascade_entries_max": Bounds.defaults.cascadeEntriesMax,
        "cascade_bytes_max": Bounds.defaults.cascadeBytesMax,
        "cascade_together_max": Bounds.defaults.cascadeTogetherMax,
        "parent_depth_max": Bounds.defaults.parentDepthMax,
        "message_bytes_max": Bounds.messageBytesMax,
        "query_bytes_max": Bounds.queryBytesMax,
        "predicate_depth_max": Bounds.predicateDepthMax,
        "comparisons_max": Bounds.comparisonsMax,
        "operand_elements_max": Bounds.operandElementsMax,
        "sort_keys_max": Bounds.sortKeysMax,
        "query_page_max": Bounds.queryPageMax,
        "query_reads_max": Bounds.queryReadsMax,
        "page_read_bytes_max": Bounds.pageReadBytesMax,
        "query_sort_bytes_max": Bounds.querySortBytesMax,
        "query_comparisons_max": Bounds.queryComparisonsMax,
        "query_sort_max": Bounds.querySortMax,
        "schema_bytes_max": Bounds.schemaBytesMax,
        "missing_max": Bounds.missingMax,
        "missing_bytes_max": Bounds.missingBytesMax,
        "feed_page_max": Bounds.feedPageMax,
        "token_bytes_max": Bounds.tokenBytesMax,
        "client_token_bytes_max": Bounds.clientTokenBytesMax,
        "subscriptions_bytes_max": Bounds.subscriptionsBytesMax,
        "subscriptions_max": Bounds.subscriptionsMax,
        "explained_max": Bounds.explainedMax,
        "explained_comparisons_max": Bounds.explainedComparisonsMax,
        "router_changes_max": Bounds.routerChangesMax,
        "router_bytes_max": Bounds.routerBytesMax,
        "subscription_debt_max": Bounds.subscriptionDebtMax,
        "subscription_debt_per_second": Bounds.subscriptionDebtPerSecond,
        "subscription_debt_total_per_second": Bounds.subscriptionDebtTotalPerSecond,
        "subscription_bytes_max": Bounds.subscriptionBytesMax,
        "notification_info_bytes_max": Bounds.notificationInfoBytesMax,
        "localization_args_max": Bounds.localizationArgsMax,
        "notification_keys_max": Bounds.notificationKeysMax,
        "notification_bytes_max": Bounds.notificationBytesMax,
        "notifications_unacknowledged_max": Bounds.notificationsUnacknowledgedMax,
        "participants_max": Bounds.participantsMax,
        "share_token_bytes_max": Bounds.shareTokenBytesMax,
        "share_requesters_max": Bounds.shareRequestersMax,
        "share_misses_per_minute_max": Bounds.defaults.shareMissesPerMinuteMax,
        "asset_data_bytes_max": Bounds.assetDataBytesMax,
        "versions_max": Hello.versionsMax,
        "access_token_bytes_max": Hello.accessTokenBytesMax,
        "identity_token_bytes_max": Hello.identityTokenBytesMax,
        "challenge_bytes": Challenge.nonceBytes,
        "client_bytes_max": Hello.clientBytesMax,
    ]

    static func name(of code: ErrorCode) -> String {
        ErrorCode.names[code] ?? "\(code.rawValue)"
    }

    static func name(of reason: CloseReason) -> String {
        self.closeReasons.first { $0.value == reason }?.key ?? "\(reason.rawValue)"
    }

    static func rows(_ table: String) throws -> [[String: Any]] {
        let registry = try ProtocolFiles.json("registry.json") as? [String: Any]
        return try #require(registry?[table] as? [[String: Any]])
    }

    /// Name and number of every row of a table.
    static func numbers(_ table: String, _ column: String = "number") throws -> [String: Int] {
        var numbers: [String: Int] = [:]
        for row in try self.rows(table) {
            let name = try #require(row["name"] as? String)
            #expect(
                numbers.updateValue(try #require(row[column] as? Int), forKey: name) == nil,
                "\(name) twice"
            )
        }
        return numbers
    }
}

@Suite struct RegistryTests {
    @Test func `kinds, error codes and close reasons are those of the code`() throws {
        #expect(try Registry.numbers("kinds") == Registry.kinds.mapValues { Int($0.rawValue) })
        #expect(try Registry.numbers("error_codes") == Registry.errorCodes.mapValues { Int($0.rawValue) })
        #expect(try Registry.numbers("close_reasons") == Registry.closeReasons.mapValues { Int($0.rawValue) })
    }

    @Test func `no number is used twice, and violations start at 100`() throws {
        for table in ["kinds", "error_codes", "close_reasons"] {
            let numbers = try Registry.rows(table).compactMap { $0["number"] as? Int }
            #expect(Set(numbers).count == numbers.count)
            #expect(numbers == numbers.sorted())
        }
        for row in try Registry.rows("close_reasons") {
            #expect(row["violation"] as? Bool == ((row["number"] as? Int ?? 0) >= 100))
        }
    }

    @Test func `limits have the defaults of the code`() throws {
        let limits = try Registry.numbers("limits", "default")
        for (name, value) in Registry.limits { #expect(limits[name] == value, "\(name)") }
    }

    @Test func `a client's limits are those of the code`() throws {
        let limits = [
            "handshake_frame_bytes_max": ClientBounds.handshakeFrameBytesMax,
            "frame_bytes_max": ClientBounds.frameBytesMax,
            "small_frame_bytes_max": FrameKind.smallPayloadBytesMax,
            "response_bytes_max": ClientBounds.responseBytesMax,
            "item_framing_bytes_max": ClientBounds.itemFramingBytesMax,
            "frame_items_max": ClientBounds.frameItemsMax,
            "end_fields_max": ClientBounds.endFieldsMax,
            "access_rows_max": ClientBounds.accessRowsMax,
            "in_flight_max": ClientBounds.inFlightMax,
            "idle_timeout_ms_min": Int(ClientBounds.idleTimeoutMilliseconds.lowerBound),
            "idle_timeout_ms_max": Int(ClientBounds.idleTimeoutMilliseconds.upperBound),
            "retry_after_ms_max": Int(ClientBounds.retryAfterMillisecondsMax),
            "welcome_text_bytes_max": ClientBounds.welcomeTextBytesMax,
        ]
        #expect(try Registry.numbers("client_limits", "value") == limits)
        let text = try ProtocolFiles.text("README.md")
        for name in limits.keys { #expect(text.contains("`\(name)`"), "\(name)") }
    }

    @Test func `a welcome has the limits that the registry says, and by default their values`() throws {
        let text = try ProtocolFiles.text("tidemark.proto")
        let message = try #require(
            text.components(separatedBy: "message Limits {").last?.split(separator: "}").first
        )
        let names = message.split(separator: "\n").filter { $0.contains(" = ") && !$0.contains("//") }
            .compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
        let rows = try Registry.rows("limits").filter { $0["welcome"] as? Bool == true }
        #expect(names.sorted() == rows.compactMap { $0["name"] as? String }.sorted())

        let welcome = Welcome(
            version: 1,
            server: "",
            userRecordName: "",
            serverTimeMilliseconds: 0,
            limits: .defaults,
            windows: .defaults
        )
        let encoded = try PBWelcome(serializedBytes: Array(welcome.encoded().readableBytesView))
        var options = JSONEncodingOptions()
        options.preserveProtoFieldNames = true
        options.alwaysPrintInt64sAsNumbers = true
        let limits = try #require(
            JSONSerialization.jsonObject(with: encoded.limits.jsonUTF8Data(options: options))
                as? [String: Int]
        )
        for row in rows {
            let name = try #require(row["name"] as? String)
            #expect(limits[name, default: 0] == row["default"] as? Int, "\(name)")
        }
    }

    @Test func `the table of kinds in the specification has the registry's numbers`() throws {
        let text = try ProtocolFiles.text("README.md")
        for row in try Registry.rows("kinds") {
            let number = try #require(row["number"] as? Int)
            let name = try #require(row["name"] as? String)
            let from = try #require(row["from"] as? String)
            #expect(text.contains("| \(number) | `\(name)` | \(from) |"), "\(name)")
        }
    }

    @Test func `protocol version and port are those of the code`() throws {
        let registry = try ProtocolFiles.json("registry.json") as? [String: Any]
        #expect(registry?["protocol"] as? String == ProtocolVersion.alpn)
        #expect(registry?["default_port"] as? Int == ProtocolVersion.defaultPort)
        #expect(ProtocolVersion.alpn == "tidemark/\(ProtocolVersion.current)")
    }

    @Test func `field types have the numbers of the schema`() throws {
        let text = try ProtocolFiles.text("tidemark.proto")
        for type in FieldType.allCases {
            let name = "\(type)".reduce(into: "") { name, character in
                name += character.isUppercase ? "_" + character.lowercased() : String(character)
            }
            #expect(text.contains(" \(name) = \(type.rawValue);"), "\(name)")
        }
    }
}
