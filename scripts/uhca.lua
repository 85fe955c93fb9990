-- SPDX-License-Identifier: BSD-2-Clause
-- Wireshark and tshark: what uhcad's captures tell besides packets, as a tree and as fields to
-- filter and to print, and what follows from it: which packets are one message, which were sent
-- again, and which answers say by what they skip that something is missing (an implied NAK, IBTA
-- vol. 1, 9.7.5.2.4).
--
--   tshark -X lua_script:uhca.lua -r FILE
--   tshark -X lua_script:uhca.lua -r FILE -Y uhca.dropped -T fields -e frame.number -e uhca.wr
--
-- For Wireshark, copy it to the folder of personal Lua plugins (Help, About, Folders).

local uhca = Proto("uhca", "uhca: metadata of a packet")

local f = uhca.fields
f.wr = ProtoField.uint64("uhca.wr", "Work request", base.HEX)
f.qp = ProtoField.uint32("uhca.qp", "Sender's queue pair", base.HEX)
f.op = ProtoField.string("uhca.op", "Operation")
f.part = ProtoField.string("uhca.part", "Part of the message")
f.try = ProtoField.uint32("uhca.try", "Sent before, times", base.DEC)
f.rule = ProtoField.uint32("uhca.rule", "Fault rule", base.DEC)
f.fault = ProtoField.string("uhca.fault", "Text of the rule")
f.made = ProtoField.string("uhca.made", "Made by a rule")
f.dropped = ProtoField.string("uhca.dropped", "Dropped")
f.judged = ProtoField.string("uhca.judged", "Not executed")
f.cause = ProtoField.string("uhca.cause", "Cause")
f.message = ProtoField.framenum("uhca.message", "First packet of the message")
f.first_try = ProtoField.framenum("uhca.first_try", "Sent first in")
f.implied_nak = ProtoField.uint32("uhca.implied_nak", "Implied NAK: missing answer from PSN",
	base.DEC)
f.record = ProtoField.string("uhca.record", "Record")
f.text = ProtoField.string("uhca.text", "Words")

local PEN = 32473
local DIRECTION_IN, DIRECTION_OUT = 1, 2

local get = {
	comment = Field.new("frame.comment"),
	interface = Field.new("frame.interface_id"),
	direction = Field.new("frame.packet_flags_direction"),
	pen = Field.new("frame.cb_pen"),
	opcode = Field.new("infiniband.bth.opcode"),
	destqp = Field.new("infiniband.bth.destqp"),
	psn = Field.new("infiniband.bth.psn"),
	syndrome = Field.new("infiniband.aeth.syndrome"),
}

local function value(name)
	local found = get[name]()
	return found and found.value
end

-- "wr=0x2a fault=\"drop nth=3\"" -> table; also what stands first without a value.
local function parse(text)
	local words, at = {}, 1
	while at <= #text do
		local name, next_at = text:match("^%s*([%w_]+)=()", at)
		if not name then
			local word, after = text:match("^%s*(%S+)()", at)
			if not word then
				break
			end
			words.what = words.what or word
			at = after
		elseif text:sub(next_at, next_at) == '"' then
			local out, i = {}, next_at + 1
			while i <= #text and text:sub(i, i) ~= '"' do
				if text:sub(i, i) == "\\" then
					i = i + 1
				end
				out[#out + 1] = text:sub(i, i)
				i = i + 1
			end
			words[name] = table.concat(out)
			at = i + 1
		else
			words[name], at = text:match("^(%S*)()", next_at)
		end
	end
	return words
end

-- ---- opcodes (IBTA vol. 1, table 38): RC 0x00, UC 0x20, UD 0x60, XRC 0xa0 ----

local FIRST = { [0x00] = true, [0x06] = true, [0x0d] = true }
local ONLY = { [0x04] = true, [0x05] = true, [0x0a] = true, [0x0b] = true, [0x10] = true,
	[0x16] = true, [0x17] = true }
local READ, CMP_SWAP, FETCH_ADD = 0x0c, 0x13, 0x14
local ACK, ATOMIC_ACK = 0x11, 0x12
local READ_FIRST, READ_LAST, READ_ONLY = 0x0d, 0x0f, 0x10

local function is_read_response(op)
	return op >= READ_FIRST and op <= READ_ONLY
end

local function is_answer(op)
	return is_read_response(op) or op == ACK or op == ATOMIC_ACK
end

local function distance(a, b) -- of PSNs, which are 24 bits
	local d = (a - b) % 0x1000000
	return d >= 0x800000 and d - 0x1000000 or d
end

-- ---- what is remembered between packets ----

local messages -- key of a message -> frame of its first packet
local sent -- key of a packet -> frame in which it went first
local waiting -- queue pair -> its READs and atomics without answer, oldest first
local results -- frame -> what was found out

function uhca.init()
	messages, sent, waiting, results = {}, {}, {}, {}
end

-- Packets of one message: by its work request, or where that is not known by FIRST and ONLY.
local function message_of(p)
	local service = p.opcode - p.opcode % 0x20
	local op = p.opcode % 0x20
	local key = table.concat({ p.interface, p.direction, p.from, p.to, p.destqp,
		p.words.wr or "", p.words.wr and "" or tostring(is_answer(op)) }, " ")
	local begins
	if p.words.part then
		begins = p.words.part:match("^1/") and not p.words.try
	else
		begins = FIRST[op] or ONLY[op] or service == 0x60 or op == ACK or op == ATOMIC_ACK
	end
	if begins or not messages[key] then
		messages[key] = p.number
	end
	return messages[key]
end

-- The frame of the first try, for one that was sent again.
local function first_try(p)
	local key = table.concat({ p.interface, p.direction, p.from, p.destqp, p.psn,
		p.words.wr or "", p.words.op or "" }, " ")
	local first = sent[key]
	if not p.words.try or not first then
		sent[key] = p.number
		return nil
	end
	return first
end

-- A READ or an atomic leaves: it and those after it have no answer (any more).
local function request(p)
	local key = p.interface .. " " .. p.words.qp
	local list = waiting[key] or {}
	waiting[key] = list
	while #list > 0 and distance(list[#list].expected, p.psn) >= 0 do
		table.remove(list)
	end
	list[#list + 1] = { expected = p.psn }
end

-- An answer arrives: the PSN from which one is missing, or nil.
local function answer(p, op)
	local list = waiting[p.interface .. " " .. string.format("0x%x", p.destqp)]
	local oldest = list and list[1]
	if not oldest then
		return nil
	end
	local ahead = distance(p.psn, oldest.expected)
	if ahead < 0 or (ahead == 0 and op == ACK and (p.syndrome or 0) >= 0x20) then
		return nil -- an old one, or a NAK that names it
	end
	if ahead > 0 or op == ACK then
		return oldest.expected
	end
	oldest.expected = (p.psn + 1) % 0x1000000
	if op ~= READ_FIRST and op ~= READ_FIRST + 1 then
		table.remove(list, 1)
	end
	return nil
end

local function find_out(p)
	local op = p.opcode % 0x20
	local reliable = p.opcode < 0x20 or p.opcode >= 0xa0 and p.opcode < 0xc0
	local r = { message = message_of(p), first_try = first_try(p) }
	if not reliable then
		return r
	end
	if p.direction == DIRECTION_OUT and p.words.qp and
	    (op == READ or op == CMP_SWAP or op == FETCH_ADD) then
		request(p)
	elseif p.direction == DIRECTION_IN and is_answer(op) and not p.words.dropped then
		r.implied_nak = answer(p, op)
	end
	return r
end

-- ---- showing it ----

local function add_words(tree, words)
	local number = { qp = true, try = true, rule = true }
	for _, name in ipairs({ "wr", "qp", "op", "part", "try", "rule", "fault", "made", "dropped",
			"judged", "cause" }) do
		local text = words[name]
		if text and name == "wr" then
			tree:add(f.wr, UInt64.new(tonumber(text:sub(-8):gsub("^0?x", ""), 16) or 0,
				#text > 10 and tonumber(text:sub(3, -9), 16) or 0))
		elseif text and number[name] then
			tree:add(f[name], tonumber(text) or 0)
		elseif text then
			tree:add(f[name], text)
		end
	end
end

local function note(p, r)
	local notes = {}
	if p.words.dropped then
		notes[#notes + 1] = "[dropped: " .. p.words.dropped .. "]"
	end
	if p.words.judged then
		notes[#notes + 1] = "[" .. p.words.judged .. "]"
	end
	if p.words.made then
		notes[#notes + 1] = "[made: " .. p.words.made .. "]"
	end
	if p.words.rule then
		notes[#notes + 1] = "[rule " .. p.words.rule .. "]"
	end
	if p.words.try then
		notes[#notes + 1] = "[retransmission " .. p.words.try .. "]"
	end
	if r.implied_nak then
		notes[#notes + 1] = "[implied NAK from PSN " .. r.implied_nak .. "]"
	end
	return table.concat(notes, " ")
end

local function show_record(tvb, pinfo, root)
	local text = tvb(8):string():gsub("%z+$", "")
	local words = parse(text)
	local tree = root:add(uhca, tvb(8))
	tree:add(f.record, words.what or "")
	tree:add(f.text, text)
	pinfo.cols.protocol = "uhca"
	pinfo.cols.info = text
end

local function show_packet(pinfo, root)
	local p = {
		number = pinfo.number,
		words = parse(value("comment") or ""),
		interface = value("interface") or 0,
		direction = value("direction") or 0,
		from = tostring(pinfo.src),
		to = tostring(pinfo.dst),
		opcode = value("opcode"),
		destqp = value("destqp"),
		psn = value("psn"),
		syndrome = value("syndrome"),
	}
	if not pinfo.visited or not results[p.number] then
		results[p.number] = find_out(p)
	end
	local r = results[p.number]
	local tree = root:add(uhca)
	add_words(tree, p.words)
	tree:add(f.message, r.message)
	if r.first_try then
		tree:add(f.first_try, r.first_try)
	end
	if r.implied_nak then
		tree:add(f.implied_nak, r.implied_nak)
	end
	local notes = note(p, r)
	if notes ~= "" then
		pinfo.cols.info:append(" " .. notes)
	end
end

function uhca.dissector(tvb, pinfo, root)
	if value("pen") == PEN and tvb:len() > 8 then
		show_record(tvb, pinfo, root)
	elseif value("opcode") and value("psn") then
		show_packet(pinfo, root)
	end
end

register_postdissector(uhca, true)
