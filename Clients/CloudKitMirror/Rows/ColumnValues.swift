internal import CloudKit
internal import Foundation
internal import GRDB

/// The declared columns of a row in order, behind its parent.
typealias RowValues = [DatabaseValue]

extension MirrorTable {
    /// The columns that a user may write, with their SQL names: the parent, then the declared ones.
    var ownColumns: [String] { ["___parent"] + self.columns.map(\.name) }

    /// Returns a record's fields as column values.
    ///
    /// A field of another type than the declared one is NULL.
    func values(of record: CKRecord) -> RowValues {
        var values: RowValues = [(record.parent?.recordID.recordName).databaseValue]
        values.reserveCapacity(self.columns.count + 1)
        let encrypted = self.columns.contains(where: \.isEncrypted) ? record.encryptedValues : nil
        for column in self.columns {
            let object =
                column.isEncrypted
                ? encrypted?.object(forKey: column.name) : record.object(forKey: column.name)
            values.append(column.kind.value(of: object))
        }
        return values
    }

    /// Sets fields of a record to column values, those with `indices`.
    func set(_ indices: some Sequence<Int>, of values: RowValues, in record: CKRecord) {
        let zone = record.recordID.zoneID
        for index in indices {
            let value = values[index]
            guard index > 0 else {
                let name = String.fromDatabaseValue(value)
                record.setParent(name.map { CKRecord.ID(recordName: $0, zoneID: zone) })
                continue
            }
            let column = self.columns[index - 1]
            let object = column.object(of: value, in: zone)
            if column.isEncrypted {
                record.encryptedValues.setObject(object, forKey: column.name)
            } else {
                record.setObject(object, forKey: column.name)
            }
        }
    }
}

extension MirrorTable.Column {
    var sqlType: String {
        switch self.kind {
        case .string, .reference: "TEXT"
        case .int64: "INTEGER"
        case .double, .date: "REAL"
        case .bytes: "BLOB"
        }
    }

    fileprivate func object(of value: DatabaseValue, in zone: CKRecordZone.ID) -> (any __CKRecordObjCValue)? {
        switch self.kind {
        case .string: String.fromDatabaseValue(value).map { $0 as NSString }
        case .int64: Int64.fromDatabaseValue(value).map { NSNumber(value: $0) }
        case .double: Double.fromDatabaseValue(value).map { NSNumber(value: $0) }
        case .date:
            Double.fromDatabaseValue(value).map { NSDate(timeIntervalSince1970: $0) }
        case .bytes: Data.fromDatabaseValue(value).map { $0 as NSData }
        case .reference:
            String.fromDatabaseValue(value).map {
                CKRecord.Reference(
                    recordID: CKRecord.ID(recordName: $0, zoneID: zone),
                    action: self.deletesSelf ? .deleteSelf : .none
                )
            }
        }
    }
}

extension MirrorTable.Column.Kind {
    fileprivate func value(of object: (any __CKRecordObjCValue)?) -> DatabaseValue {
        switch self {
        case .string: (object as? String).databaseValue
        case .int64: (object as? NSNumber)?.int64Value.databaseValue ?? .null
        case .double: (object as? NSNumber)?.doubleValue.databaseValue ?? .null
        case .date: (object as? Date)?.timeIntervalSince1970.databaseValue ?? .null
        case .bytes: (object as? Data).databaseValue
        case .reference: (object as? CKRecord.Reference)?.recordID.recordName.databaseValue ?? .null
        }
    }
}

/// Values as JSON, for `tidemark_pending.sent` and `tidemark_conflict`: bytes are in hexadecimal.
enum ValueText {
    /// A row as an object of its columns that are not NULL.
    static func object(_ table: MirrorTable, _ values: RowValues) -> String {
        let members = zip(table.ownColumns, values).filter { !$1.isNull }.map { name, value in
            "\(self.text(name)):\(self.json(value))"
        }
        return "{\(members.joined(separator: ","))}"
    }

    private static func json(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "null"
        case .int64(let integer): "\(integer)"
        case .double(let number): number.isFinite ? "\(number)" : self.text("\(number)")
        case .string(let string): self.text(string)
        case .blob(let bytes): self.text(bytes.map { String(format: "%02x", $0) }.joined())
        }
    }

    private static func text(_ string: String) -> String {
        let encoded = try? JSONEncoder().encode(string)
        return encoded.map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}
