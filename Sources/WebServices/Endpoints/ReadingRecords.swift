import Foundation
import RecordJSON
import RecordModel
import RecordServer
import WireProtocol

extension WebRequest {
    /// `records/query`.
    func query() throws(WebInputError) -> any WebTask {
        let start: QueryRecords.Start
        if let marker = try self.root.bytes("continuationMarker") {
            start = .cursor(marker)
        } else {
            guard let object = try self.root.object("query") else {
                throw WebInputError("the body has no 'query'", at: self.root.position)
            }
            let isZoneWide = try self.root.bool("zoneWide") ?? false
            let zone = try self.root.zone("zoneID", own: self.own) ?? .default
            start = .query(
                try WebQuery.query(object, own: self.own),
                zone: isZoneWide ? nil : zone
            )
        }
        let operation = QueryRecords(
            scope: self.scope,
            start: start,
            desiredKeys: try self.root.strings("desiredKeys"),
            limit: try self.root.limit
        )
        return OneOperation(.queryRecords(operation), WebItems(try self.form())) { outcomes, items in
            JSONOutput.webBody("records", items.items) { output in
                guard !outcomes.end.cursor.isEmpty else { return }
                output.member("continuationMarker", Data(outcomes.end.cursor).base64EncodedString())
            }
        }
    }

    /// `records/lookup`.
    func lookup() throws(WebInputError) -> any WebTask {
        let zone = try self.root.zone("zoneID", own: self.own) ?? .default
        let common = try self.root.strings("desiredKeys")
        var ids: [RecordID] = []
        var keys: [Int: Set<String>] = [:]
        for node in try self.list("records") {
            let object = try WebObject(node, of: "a record")
            let record = RecordID(
                zone: try object.zone("zoneID", own: self.own) ?? zone,
                recordName: try object.requiredString("recordName")
            )
            if let own = try object.strings("desiredKeys") { keys[ids.count] = Set(own) }
            ids.append(record)
        }
        if !keys.isEmpty, let common {
            for number in ids.indices where keys[number] == nil { keys[number] = Set(common) }
        }
        let operation = FetchRecords(
            scope: self.scope,
            ids: ids,
            desiredKeys: keys.isEmpty ? common : nil
        )
        let items = WebItems(try self.form(), ids: ids, keys: keys)
        return OneOperation(.fetchRecords(operation), items) { _, items in
            JSONOutput.webBody("records", items.items)
        }
    }
}

extension WebObject {
    /// `resultsLimit`, at most that of a page.
    var limit: UInt32 {
        get throws(WebInputError) {
            UInt32(min(try self.count("resultsLimit") ?? WebRequest.itemsMax, WebRequest.itemsMax))
        }
    }

    /// Bytes in base64: a token or a marker that the server made.
    func bytes(_ name: String) throws(WebInputError) -> [UInt8]? {
        guard let text = try self.string(name), !text.isEmpty else { return nil }
        guard let data = Data(base64Encoded: text) else {
            throw WebInputError("'\(name)' is not base64", at: self.position)
        }
        return Array(data)
    }
}

extension JSONOutput {
    /// A body of a response: a list of items that are JSON already, and other members.
    static func webBody(
        _ name: String,
        _ items: [[UInt8]],
        _ others: (inout JSONOutput) -> Void = { _ in }
    ) -> [UInt8] {
        var output = JSONOutput()
        output.object { output in
            output.name(name)
            output.array(items) { $0.written($1) }
            others(&output)
        }
        return output.text
    }
}
