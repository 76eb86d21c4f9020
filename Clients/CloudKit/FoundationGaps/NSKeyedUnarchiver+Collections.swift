public import Foundation

// API that Foundation on Linux lacks. It is disfavoured, so that a Foundation that has it comes
// first.
extension NSKeyedUnarchiver {
    /// Reads an array of objects of a class.
    ///
    /// - Parameters:
    ///   - objectClass: The class of the elements.
    ///   - data: A keyed archive with an array as its root.
    /// - Returns: The elements, in order; `nil` if the root is no such array.
    /// - Throws: If the data are no archive, or a damaged one. An object of another class ends the
    ///   program, as it does in Foundation.
    @_disfavoredOverload
    public static func unarchivedArrayOfObjects<Element: NSObject & NSCoding>(
        ofClass objectClass: Element.Type,
        from data: Data
    ) throws -> [Element]? {
        try self.unarchivedArrayOfObjects(ofClasses: [objectClass], from: data) as? [Element]
    }

    /// Reads an array of objects of some classes.
    ///
    /// - Parameters:
    ///   - classes: The classes of the elements, and of what is in them.
    ///   - data: A keyed archive with an array as its root.
    /// - Returns: The elements, in order; `nil` if the root is no array.
    /// - Throws: If the data are no archive, or a damaged one. An object of another class ends the
    ///   program, as it does in Foundation.
    @_disfavoredOverload
    public static func unarchivedArrayOfObjects(
        ofClasses classes: [AnyClass],
        from data: Data
    ) throws -> [Any]? {
        let array = try self.unarchivedObject(ofClasses: [NSArray.self] + classes, from: data) as? NSArray
        return array.map { array in (0..<array.count).map { array.object(at: $0) } }
    }

    /// Reads a dictionary with keys of one class and objects of another.
    ///
    /// - Parameters:
    ///   - keyClass: The class of the keys.
    ///   - objectClass: The class of the values.
    ///   - data: A keyed archive with a dictionary as its root.
    /// - Returns: The dictionary; `nil` if the root, a key or a value is of another class.
    /// - Throws: If the data are no archive, or a damaged one. An object of another class ends the
    ///   program, as it does in Foundation.
    @_disfavoredOverload
    public static func unarchivedDictionary<Key: NSObject & NSCoding, Object: NSObject & NSCoding>(
        ofKeyClass keyClass: Key.Type,
        objectClass: Object.Type,
        from data: Data
    ) throws -> [Key: Object]? {
        guard let dictionary = try self.dictionary(of: [keyClass, objectClass], from: data) else {
            return nil
        }
        var objects: [Key: Object] = [:]
        for key in dictionary.allKeys {
            guard let found = key as? Key, let object = dictionary.object(forKey: key) as? Object else {
                return nil
            }
            objects[found] = object
        }
        return objects
    }

    /// Reads a dictionary with keys of some classes and objects of others.
    ///
    /// - Parameters:
    ///   - keyClasses: The classes of the keys.
    ///   - objectClasses: The classes of the values.
    ///   - data: A keyed archive with a dictionary as its root.
    /// - Returns: The dictionary; `nil` if the root is none, or a key is not hashable.
    /// - Throws: If the data are no archive, or a damaged one. An object of another class ends the
    ///   program, as it does in Foundation.
    @_disfavoredOverload
    public static func unarchivedDictionary(
        ofKeyClasses keyClasses: [AnyClass],
        objectClasses: [AnyClass],
        from data: Data
    ) throws -> [AnyHashable: Any]? {
        guard let dictionary = try self.dictionary(of: keyClasses + objectClasses, from: data) else {
            return nil
        }
        var objects: [AnyHashable: Any] = [:]
        for key in dictionary.allKeys {
            guard let found = key as? AnyHashable else { return nil }
            objects[found] = dictionary.object(forKey: key)
        }
        return objects
    }

    private static func dictionary(of classes: [AnyClass], from data: Data) throws -> NSDictionary? {
        try self.unarchivedObject(ofClasses: [NSDictionary.self] + classes, from: data) as? NSDictionary
    }
}
